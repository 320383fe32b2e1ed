// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title Who owns a name and who resolves it
/// @notice Speaks the interface of EIP-137. A name is known by its hash, the root is zero.
contract NameRegistry {
    struct Entry {
        address owner;
        address resolver;
        uint64 ttl;
    }

    mapping(bytes32 => Entry) private _entries;

    event NewOwner(bytes32 indexed node, bytes32 indexed label, address owner);
    event Transfer(bytes32 indexed node, address owner);
    event NewResolver(bytes32 indexed node, address resolver);
    event NewTTL(bytes32 indexed node, uint64 ttl);

    error NotNameOwner(bytes32 node, address caller);

    modifier onlyOwnerOf(bytes32 node) {
        if (_entries[node].owner != msg.sender) revert NotNameOwner(node, msg.sender);
        _;
    }

    constructor() {
        _entries[0].owner = msg.sender;
    }

    function owner(bytes32 node) external view returns (address) {
        return _entries[node].owner;
    }

    function resolver(bytes32 node) external view returns (address) {
        return _entries[node].resolver;
    }

    function ttl(bytes32 node) external view returns (uint64) {
        return _entries[node].ttl;
    }

    function setOwner(bytes32 node, address owner_) external onlyOwnerOf(node) {
        _entries[node].owner = owner_;
        emit Transfer(node, owner_);
    }

    /// @notice `label` is the hash of one label, such as that of "alice" below "eth".
    function setSubnodeOwner(bytes32 node, bytes32 label, address owner_) external onlyOwnerOf(node) {
        _entries[keccak256(abi.encodePacked(node, label))].owner = owner_;
        emit NewOwner(node, label, owner_);
    }

    function setResolver(bytes32 node, address resolver_) external onlyOwnerOf(node) {
        _entries[node].resolver = resolver_;
        emit NewResolver(node, resolver_);
    }

    function setTTL(bytes32 node, uint64 ttl_) external onlyOwnerOf(node) {
        _entries[node].ttl = ttl_;
        emit NewTTL(node, ttl_);
    }
}
