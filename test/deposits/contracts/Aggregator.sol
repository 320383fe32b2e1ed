// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title The two functions of Multicall3 by which balances are read in groups
contract Aggregator {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success, bytes memory returned) = calls[i].target.call(calls[i].callData);
            require(success || calls[i].allowFailure);
            results[i] = Result(success, returned);
        }
    }

    function getEthBalance(address holder) external view returns (uint256) {
        return holder.balance;
    }
}
