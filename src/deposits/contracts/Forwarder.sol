// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title An address that can only pay its recipient
/// @notice Accepts coins from anyone, with any data. Only the factory that created it can have it pay, and only the
/// recipient that its creation code names. It has no owner, no upgrade and no other exit.
contract Forwarder {
    address private immutable factory;
    address private immutable recipient;

    constructor(address recipient_) {
        factory = msg.sender;
        recipient = recipient_;
    }

    /// @dev From the factory, the data are a token and an amount, a word each; the token is zero for coins. Reverts if the
    /// recipient or the token refuses. Nothing of what they return is copied: it could cost any amount of gas. The factory
    /// reads from balances what a token did.
    fallback() external payable {
        if (msg.sender != factory || msg.data.length != 64) return;
        address payee = recipient;
        assembly {
            let token := calldataload(0)
            let amount := calldataload(32)
            let done
            switch token
            case 0 { done := call(gas(), payee, amount, 0, 0, 0, 0) }
            default {
                mstore(0, 0xa9059cbb) // transfer(address,uint256)
                mstore(32, payee)
                mstore(64, amount)
                done := call(gas(), token, 0, 28, 68, 0, 0)
            }
            if iszero(done) { revert(0, 0) }
            stop()
        }
    }
}
