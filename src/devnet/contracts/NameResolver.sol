// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {NameRegistry} from "./NameRegistry.sol";

/// @title Tells the address that a name stands for
/// @notice The resolver of EIP-137; only a name's owner says what it stands for.
contract NameResolver {
    /// The interface of `addr(bytes32)` and of ERC-165 itself.
    bytes4 private constant ADDR = 0x3b3b57de;
    bytes4 private constant ERC165 = 0x01ffc9a7;

    NameRegistry public immutable registry;
    mapping(bytes32 => address) private _addresses;

    event AddrChanged(bytes32 indexed node, address a);

    error NotNameOwner(bytes32 node, address caller);

    constructor(NameRegistry registry_) {
        registry = registry_;
    }

    function addr(bytes32 node) external view returns (address) {
        return _addresses[node];
    }

    function setAddr(bytes32 node, address a) external {
        if (registry.owner(node) != msg.sender) revert NotNameOwner(node, msg.sender);
        _addresses[node] = a;
        emit AddrChanged(node, a);
    }

    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == ADDR || interfaceId == ERC165;
    }
}
