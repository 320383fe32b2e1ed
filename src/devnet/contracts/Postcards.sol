// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title A collection whose metadata and pictures live on the chain
contract Postcards is ERC721, ERC721Burnable, Ownable {
    using Strings for uint256;

    uint256 public nextTokenId = 1;

    constructor(string memory name_, string memory symbol_) ERC721(name_, symbol_) Ownable(msg.sender) {}

    function mint(address to) external onlyOwner returns (uint256 tokenId) {
        tokenId = nextTokenId++;
        _mint(to, tokenId);
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        bytes memory json = abi.encodePacked(
            '{"name":"Postcard #', tokenId.toString(),
            '","description":"A picture drawn by its own contract.","image":"data:image/gif;base64,',
            Base64.encode(_picture(tokenId)),
            '","attributes":[{"trait_type":"Palette","value":"', _palette(tokenId),
            '"},{"trait_type":"Rings","display_type":"number","value":', _rings(tokenId).toString(), '}]}'
        );
        return string.concat("data:application/json;base64,", Base64.encode(json));
    }

    /// @dev A GIF of rings around the middle. Each row clears the decoder's table of codes, so that every code keeps its
    /// eight bits and a pixel is one byte.
    function _picture(uint256 tokenId) private pure returns (bytes memory) {
        bytes memory rows;
        for (uint256 y = 0; y < 32; y++) {
            rows = abi.encodePacked(rows, hex"2180", _row(y, _rings(tokenId)));
        }
        return abi.encodePacked(
            hex"47494638396120002000810000", _colours(tokenId), hex"2c0000000020002000", hex"0007", rows, hex"0181003b"
        );
    }

    /// @dev Distances are in half pixels, from the point where four pixels meet.
    function _row(uint256 y, uint256 rings) private pure returns (bytes memory row) {
        row = new bytes(32);
        uint256 down = y < 16 ? 31 - 2 * y : 2 * y - 31;
        for (uint256 x = 0; x < 32; x++) {
            uint256 right = x < 16 ? 31 - 2 * x : 2 * x - 31;
            uint256 distance = Math.sqrt(down * down + right * right);
            uint256 ring = distance / 6;
            if (distance % 6 < 2 && ring > 0 && ring <= rings) row[x] = 0x01;
        }
    }

    /// @dev Four colours: those of the paper and of the rings, and two that no pixel has.
    function _colours(uint256 tokenId) private pure returns (bytes12) {
        if (tokenId % 3 == 0) return hex"f9dcc9b4532a000000000000";
        return tokenId % 3 == 1 ? bytes12(hex"d8edf81f6f9f000000000000") : bytes12(hex"dcd5ee4b3a8c000000000000");
    }

    function _palette(uint256 tokenId) private pure returns (string memory) {
        return tokenId % 3 == 0 ? "Dawn" : tokenId % 3 == 1 ? "Noon" : "Dusk";
    }

    function _rings(uint256 tokenId) private pure returns (uint256) {
        return 1 + tokenId % 5;
    }
}
