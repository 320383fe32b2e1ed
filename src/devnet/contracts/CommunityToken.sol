// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

/// @title A token with eighteen decimals and a capped supply
contract CommunityToken is ERC20, ERC20Burnable, Ownable {
    uint256 public immutable cap;

    error CapExceeded(uint256 supply, uint256 cap);

    constructor(string memory name_, string memory symbol_, uint256 cap_) ERC20(name_, symbol_) Ownable(msg.sender) {
        cap = cap_;
    }

    function mint(address to, uint256 amount) external onlyOwner {
        if (totalSupply() + amount > cap) revert CapExceeded(totalSupply() + amount, cap);
        _mint(to, amount);
    }
}
