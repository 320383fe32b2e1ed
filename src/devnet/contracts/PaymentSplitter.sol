// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title Forwards what it is paid to several payees
contract PaymentSplitter {
    event Paid(address indexed payee, uint256 amount);
    event PaymentRefused(address indexed payee, uint256 amount, bytes reason);
    event UnknownCall(address indexed caller, bytes4 indexed selector, uint256 value);

    error NoPayees();
    error PayeeRefused(address payee);

    receive() external payable {}

    /// @notice Any other call is accepted and noted.
    fallback() external payable {
        emit UnknownCall(msg.sender, msg.sig, msg.value);
    }

    /// @notice Equal shares; one refusal undoes everything.
    function split(address payable[] calldata payees) external payable {
        if (payees.length == 0) revert NoPayees();
        uint256 share = msg.value / payees.length;
        for (uint256 i = 0; i < payees.length; i++) {
            (bool accepted, ) = payees[i].call{value: share}("");
            if (!accepted) revert PayeeRefused(payees[i]);
            emit Paid(payees[i], share);
        }
    }

    /// @notice Equal shares; what a payee refuses goes back to the sender.
    function splitTolerantly(address payable[] calldata payees) external payable {
        if (payees.length == 0) revert NoPayees();
        uint256 share = msg.value / payees.length;
        uint256 refused;
        for (uint256 i = 0; i < payees.length; i++) {
            (bool accepted, bytes memory reason) = payees[i].call{value: share}("");
            if (accepted) {
                emit Paid(payees[i], share);
            } else {
                refused += share;
                emit PaymentRefused(payees[i], share, reason);
            }
        }
        if (refused > 0) payable(msg.sender).transfer(refused);
    }
}
