// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";

/// @title A deposit box to stand behind a proxy or a clone
contract Treasury is Initializable, UUPSUpgradeable {
    address public owner;
    uint256 public deposits;

    event Deposited(address indexed from, uint256 amount, uint256 deposits);
    event Withdrawn(address indexed to, uint256 amount);

    error NotOwner(address caller);

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    constructor() {
        _disableInitializers();
    }

    function initialize(address owner_) external initializer {
        owner = owner_;
    }

    function deposit() external payable {
        deposits++;
        emit Deposited(msg.sender, msg.value, deposits);
    }

    function withdraw(address payable to, uint256 amount) external onlyOwner {
        emit Withdrawn(to, amount);
        (bool sent, bytes memory reason) = to.call{value: amount}("");
        if (!sent) assembly ("memory-safe") { revert(add(reason, 32), mload(reason)) }
    }

    function _authorizeUpgrade(address) internal view override onlyOwner {}
}
