// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title Many kinds of items in one contract
contract GameItems is ERC1155, ERC1155Burnable, Ownable {
    string public name;
    string public symbol;

    constructor(string memory name_, string memory symbol_) ERC1155("") Ownable(msg.sender) {
        name = name_;
        symbol = symbol_;
    }

    function mint(address to, uint256 id, uint256 amount) external onlyOwner {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external onlyOwner {
        _mintBatch(to, ids, amounts, "");
    }

    function uri(uint256 id) public pure override returns (string memory) {
        string memory number = Strings.toString(id);
        // A GIF of one pixel, in a light colour of the id's own.
        bytes memory picture = abi.encodePacked(
            hex"47494638396101000100800000", bytes3(keccak256(abi.encode(id))) | 0x808080,
            hex"0000002c00000000010001000002024401003b"
        );
        bytes memory json = abi.encodePacked(
            '{"name":"Item ', number, '","description":"One of many alike.","image":"data:image/gif;base64,',
            Base64.encode(picture), '","attributes":[{"trait_type":"Kind","value":"', number, '"}]}'
        );
        return string.concat("data:application/json;base64,", Base64.encode(json));
    }
}
