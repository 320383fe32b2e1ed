// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title Holds one number
contract Box {
    address public immutable creator;
    uint256 public content;

    event Filled(address indexed by, uint256 content);

    constructor(uint256 content_) {
        creator = msg.sender;
        content = content_;
    }

    function fill(uint256 content_) external {
        content = content_;
        emit Filled(msg.sender, content_);
    }
}
