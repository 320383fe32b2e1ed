// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title A resolver that sends its callers to URLs of its choice
/// @notice Answers every call, and every answer to it, with the revert of EIP-3668.
contract AskingResolver {
    string[] private _urls;

    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    constructor(string[] memory urls) {
        _urls = urls;
    }

    fallback() external {
        revert OffchainLookup(address(this), _urls, hex"1234", bytes4(0xb1b1b1b1), "");
    }
}
