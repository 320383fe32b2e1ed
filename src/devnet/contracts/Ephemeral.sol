// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title Ends within its own creation, the one case in which EIP-6780 still removes a contract
contract Ephemeral {
    constructor(address payable heir) payable {
        selfdestruct(heir);
    }
}
