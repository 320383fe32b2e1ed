// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

interface Token {
    function transfer(address to, uint256 amount) external returns (bool);
}

/// @title What a stranger can put into one transaction
contract Attacker {
    /// Receives the calls of `callMany`. It has no code.
    address private constant NOBODY = address(0xEE);

    /// @notice Pays from this contract's balance, after `count` logs without topics of `size` bytes each.
    function payWithLogs(Token token, address to, uint256 amount, uint256 count, uint256 size) external {
        assembly {
            for { let i := 0 } lt(i, count) { i := add(i, 1) } { log0(0x80, size) }
        }
        token.transfer(to, amount);
    }

    /// @notice Makes `count` internal calls with `size` bytes of input each.
    function callMany(uint256 count, uint256 size) external {
        address nobody = NOBODY;
        assembly {
            for { let i := 0 } lt(i, count) { i := add(i, 1) } {
                pop(call(gas(), nobody, 0, 0x80, size, 0, 0))
            }
        }
    }

    /// @notice Sends one smallest unit of a token to an address, `count` times.
    function dust(Token token, address to, uint256 count) external {
        for (uint256 i = 0; i < count; i++) token.transfer(to, 1);
    }

    /// @notice Takes any call data, which makes a block as large as wanted.
    fallback() external payable {}
}
