// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title A stranger's contract that logs the event of the deposit factory
contract Imitator {
    event Swept(address indexed forwarder, address indexed token, uint256 amount);

    function imitate(address forwarder, address token, uint256 amount) external {
        emit Swept(forwarder, token, amount);
    }
}
