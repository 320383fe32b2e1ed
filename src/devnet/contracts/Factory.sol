// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {Box} from "./Box.sol";
import {Ephemeral} from "./Ephemeral.sol";
import {Treasury} from "./Treasury.sol";

/// @title Creates contracts in every way a contract can
contract Factory {
    event Created(address indexed created, string what);

    /// @notice By CREATE2, at an address known beforehand.
    function createBox(bytes32 salt, uint256 content) external returns (address box) {
        box = address(new Box{salt: salt}(content));
        emit Created(box, "Box");
    }

    /// @notice An EIP-1167 minimal proxy, by CREATE.
    function cloneTreasury(address implementation, address owner) external returns (address clone) {
        clone = Clones.clone(implementation);
        Treasury(payable(clone)).initialize(owner);
        emit Created(clone, "Treasury clone");
    }

    /// @notice A contract that is gone before this call returns; what it was paid goes to the heir.
    function createEphemeral(address payable heir) external payable {
        emit Created(address(new Ephemeral{value: msg.value}(heir)), "Ephemeral");
    }
}
