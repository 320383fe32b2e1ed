// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title Pays several recipients in one transaction, as an exchange does
contract BatchPayout {
    /// @param stipend Gas for each recipient; all that is left when zero.
    function pay(address[] calldata recipients, uint256 amount, uint256 stipend) external payable {
        for (uint256 i = 0; i < recipients.length; ++i) {
            bool paid;
            if (stipend == 0) (paid,) = recipients[i].call{value: amount}("");
            else (paid,) = recipients[i].call{value: amount, gas: stipend}("");
            require(paid, "refused");
        }
    }

    /// @notice Gives exactly 2,300 gas.
    function transfer(address payable recipient) external payable {
        recipient.transfer(msg.value);
    }
}
