// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title A resolver whose addresses are at a gateway
/// @notice Asks for every address by the revert of EIP-3668, and believes any answer. Asks again while the answer is
/// empty. With `wildcard` it also resolves the names below its own (ENSIP-10).
contract GatewayResolver {
    string[] private _urls;
    bool private immutable _isWildcard;

    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    constructor(string[] memory urls, bool wildcard) {
        _urls = urls;
        _isWildcard = wildcard;
    }

    function supportsInterface(bytes4 id) external view returns (bool) {
        return id == 0x01ffc9a7 || (id == 0x9061b923 && _isWildcard);
    }

    function addr(bytes32) external view returns (address) {
        _ask(msg.data, this.addrAnswered.selector);
    }

    function resolve(bytes calldata, bytes calldata) external view returns (bytes memory) {
        _ask(msg.data, this.resolveAnswered.selector);
    }

    function addrAnswered(bytes calldata response, bytes calldata question) external view returns (address) {
        if (response.length == 0) _ask(question, this.addrAnswered.selector);
        return abi.decode(response, (address));
    }

    function resolveAnswered(bytes calldata response, bytes calldata question) external view returns (bytes memory) {
        if (response.length == 0) _ask(question, this.resolveAnswered.selector);
        return response;
    }

    function _ask(bytes memory question, bytes4 callbackFunction) private view {
        revert OffchainLookup(address(this), _urls, question, callbackFunction, question);
    }
}
