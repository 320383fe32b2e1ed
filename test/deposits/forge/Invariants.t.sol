// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DepositFactory} from "../../../src/deposits/contracts/DepositFactory.sol";
import {Handler} from "./Handler.sol";

contract Invariants {
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    Handler private handler;

    function setUp() public {
        handler = new Handler();
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), new bytes4[](9));
        targets[0].selectors[0] = Handler.pay.selector;
        targets[0].selectors[1] = Handler.pay.selector;
        targets[0].selectors[2] = Handler.create.selector;
        targets[0].selectors[3] = Handler.call.selector;
        targets[0].selectors[4] = Handler.behaveToken.selector;
        targets[0].selectors[5] = Handler.behaveRecipient.selector;
        targets[0].selectors[6] = Handler.sweep.selector;
        targets[0].selectors[7] = Handler.sweep.selector;
        targets[0].selectors[8] = Handler.order.selector;
    }

    /// @notice What was paid is at the forwarder or with its recipient, a fee of the token apart, and nowhere else.
    function invariant_paidIsHeldOrArrived() public view {
        DepositFactory.Item[] memory items = handler.allItems();
        for (uint256 i = 0; i < items.length; ++i) {
            address token = items[i].token;
            address forwarder = handler.forwarderOf(items[i]);
            require(handler.holding(token, forwarder) == handler.held(forwarder, token), "held");
            require(handler.holding(token, items[i].recipient) == handler.arrived(items[i].recipient, token), "arrived");
            require(handler.holding(token, address(handler.factory())) == 0, "the factory holds nothing");
        }
    }

    /// @notice When all behave again, what is left is swept whole.
    function afterInvariant() public {
        handler.behaveAll();
        handler.sweepAll();
        DepositFactory.Item[] memory items = handler.allItems();
        for (uint256 i = 0; i < items.length; ++i) {
            require(handler.holding(items[i].token, handler.forwarderOf(items[i])) == 0, "left");
        }
        invariant_paidIsHeldOrArrived();
    }

    function testFuzz_aForwarderIsCreatedAtItsAddressOnce(address recipient, bytes32 salt) public {
        DepositFactory factory = handler.factory();
        address expected = factory.addressOf(recipient, salt);
        require(expected.code.length == 0, "exists");
        require(factory.create(recipient, salt) == expected && expected.code.length > 0, "elsewhere");
        require(factory.create(recipient, salt) == expected, "again");
    }

    function testFuzz_anotherRecipientOrSaltHasAnotherAddress(address a, bytes32 s, address b, bytes32 t) public view {
        bool isSame = a == b && s == t;
        require((handler.factory().addressOf(a, s) == handler.factory().addressOf(b, t)) == isSame, "shared");
    }
}
