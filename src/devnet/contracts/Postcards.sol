// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
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
            '","description":"A picture drawn by its own contract.","image":"data:image/svg+xml;base64,',
            Base64.encode(_picture(tokenId)),
            '","attributes":[{"trait_type":"Palette","value":"', _palette(tokenId),
            '"},{"trait_type":"Rings","display_type":"number","value":', _rings(tokenId).toString(), '}]}'
        );
        return string.concat("data:application/json;base64,", Base64.encode(json));
    }

    function _picture(uint256 tokenId) private pure returns (bytes memory picture) {
        string memory hue = ((tokenId * 47) % 360).toString();
        picture = abi.encodePacked(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100" fill="hsl(', hue,
            ',60%,85%)"/>'
        );
        for (uint256 ring = _rings(tokenId); ring > 0; ring--) {
            picture = abi.encodePacked(
                picture, '<circle cx="50" cy="50" r="', (ring * 9).toString(), '" fill="none" stroke="hsl(', hue,
                ',70%,40%)" stroke-width="3"/>'
            );
        }
        picture = abi.encodePacked(picture, "</svg>");
    }

    function _palette(uint256 tokenId) private pure returns (string memory) {
        return tokenId % 3 == 0 ? "Dawn" : tokenId % 3 == 1 ? "Noon" : "Dusk";
    }

    function _rings(uint256 tokenId) private pure returns (uint256) {
        return 1 + tokenId % 5;
    }
}
