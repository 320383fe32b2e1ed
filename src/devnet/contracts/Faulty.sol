// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title Fails in every way a contract can
contract Faulty {
    uint256 public wasted;

    error LimitExceeded(address caller, uint256 requested, uint256 limit);

    receive() external payable {
        revert("Faulty: payments refused");
    }

    function failWithReason() external pure {
        revert("Faulty: failed on purpose");
    }

    function failWithPanic(uint256 divisor) external pure returns (uint256) {
        return 100 / divisor;
    }

    function failWithCustomError(uint256 requested) external view {
        revert LimitExceeded(msg.sender, requested, 1000);
    }

    function burnGas() external {
        while (true) wasted++;
    }
}
