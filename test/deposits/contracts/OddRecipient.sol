// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title A recipient of coins that behaves in one way
contract OddRecipient {
    enum Behaviour {
        Accept,
        Refuse,
        BurnGas,
        ReturnMuch,
        CallOut
    }

    Behaviour private behaviour;
    address private target;
    uint256 private amount;
    bytes private data;

    /// @notice The last three are what CallOut does with the coins of a payment.
    function behave(Behaviour behaviour_, address target_, uint256 amount_, bytes calldata data_) external {
        behaviour = behaviour_;
        target = target_;
        amount = amount_;
        data = data_;
    }

    receive() external payable {
        if (behaviour == Behaviour.Refuse) revert("refused");
        if (behaviour == Behaviour.BurnGas) while (true) {}
        if (behaviour == Behaviour.ReturnMuch) {
            assembly {
                return(0, 100000)
            }
        }
        if (behaviour == Behaviour.CallOut) {
            (bool done,) = target.call{value: amount}(data);
            done;
        }
    }
}
