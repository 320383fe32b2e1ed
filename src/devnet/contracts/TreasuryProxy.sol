// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";

/// @title The address people know; the code behind it can change
contract TreasuryProxy is ERC1967Proxy {
    constructor(address implementation, bytes memory call) payable ERC1967Proxy(implementation, call) {}

    receive() external payable {
        _fallback();
    }
}
