// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DepositFactory} from "../../../src/deposits/contracts/DepositFactory.sol";
import {HostileToken} from "../contracts/HostileToken.sol";
import {OddRecipient} from "../contracts/OddRecipient.sol";

/// @dev Used part of forge's cheat codes.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function deal(address account, uint256 coins) external;
    function prank(address sender) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
}

/// @title Everything that can happen to forwarders, in any order, with a model of what has to come of it
contract Handler {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 private constant SALTS = 2;

    DepositFactory public immutable factory = new DepositFactory();
    OddRecipient[] public recipients;
    /// @dev The first asset is coins, as token zero.
    HostileToken[] public assets;
    DepositFactory.Item[] private items;

    /// @dev By forwarder and token: what it holds. By recipient and token: what arrived, and the fees of that.
    mapping(address => mapping(address => uint256)) public held;
    mapping(address => mapping(address => uint256)) public arrived;
    mapping(address => uint256) private tokenBehaviour;
    mapping(address => uint256) private recipientBehaviour;

    constructor() {
        assets.push(HostileToken(address(0)));
        for (uint256 i = 0; i < 3; ++i) {
            recipients.push(new OddRecipient());
            assets.push(new HostileToken());
        }
        for (uint256 r = 0; r < recipients.length; ++r) {
            for (uint256 s = 0; s < SALTS; ++s) {
                for (uint256 a = 0; a < assets.length; ++a) {
                    items.push(DepositFactory.Item(address(recipients[r]), keccak256(abi.encode(s)), address(assets[a])));
                }
            }
        }
    }

    function allItems() external view returns (DepositFactory.Item[] memory) {
        return items;
    }

    function forwarderOf(DepositFactory.Item memory item) public view returns (address) {
        return factory.addressOf(item.recipient, item.salt);
    }

    function holding(address token, address account) public view returns (uint256) {
        return token == address(0) ? account.balance : HostileToken(token).balances(account);
    }

    function pay(uint256 which, uint96 amount, bytes calldata data) external {
        DepositFactory.Item memory item = items[which % items.length];
        address forwarder = forwarderOf(item);
        if (item.token == address(0)) {
            vm.deal(address(this), amount);
            (bool accepted,) = forwarder.call{value: amount}(data);
            require(accepted, "a forwarder accepts every payment");
        } else {
            HostileToken(item.token).mint(forwarder, amount);
        }
        held[forwarder][item.token] += amount;
    }

    function create(uint256 which) external {
        DepositFactory.Item memory item = items[which % items.length];
        require(factory.create(item.recipient, item.salt) == forwarderOf(item), "another address");
    }

    /// @notice Any call of a forwarder or the factory by anyone. It may fail, and moves nothing.
    function call(uint256 which, address caller, bytes calldata data, bool isOfFactory) external {
        address forwarder = forwarderOf(items[which % items.length]);
        callAs(caller, isOfFactory ? address(factory) : forwarder, data);
    }

    /// @notice A call as from the factory, by anyone else.
    function order(uint256 which, address caller) external {
        DepositFactory.Item memory item = items[which % items.length];
        address forwarder = forwarderOf(item);
        callAs(caller, forwarder, abi.encode(item.token, held[forwarder][item.token]));
    }

    function callAs(address caller, address target, bytes memory data) private {
        if (caller == address(factory)) return;
        vm.prank(caller);
        (bool done,) = target.call(data);
        done;
    }

    /// @notice A token with another behaviour. When it calls out in a transfer, it sweeps.
    function behaveToken(uint256 which, uint256 behaviour) external {
        HostileToken token = assets[1 + which % (assets.length - 1)];
        behaviour = behaviour % (uint256(type(HostileToken.Behaviour).max) + 1);
        tokenBehaviour[address(token)] = behaviour;
        token.behave(HostileToken.Behaviour(behaviour), address(factory), sweepOf(which));
    }

    function behaveRecipient(uint256 which, uint256 behaviour) external {
        OddRecipient recipient = recipients[which % recipients.length];
        behaviour = behaviour % (uint256(type(OddRecipient.Behaviour).max) + 1);
        recipientBehaviour[address(recipient)] = behaviour;
        recipient.behave(OddRecipient.Behaviour(behaviour), address(factory), 0, sweepOf(which));
    }

    function sweepOf(uint256 which) private view returns (bytes memory) {
        DepositFactory.Item[] memory one = new DepositFactory.Item[](1);
        one[0] = items[which % items.length];
        return abi.encodeCall(DepositFactory.sweep, (one, 100_000));
    }

    function behaveAll() external {
        for (uint256 i = 0; i < recipients.length; ++i) {
            recipients[i].behave(OddRecipient.Behaviour.Accept, address(0), 0, "");
            recipientBehaviour[address(recipients[i])] = 0;
        }
        for (uint256 i = 1; i < assets.length; ++i) {
            assets[i].behave(HostileToken.Behaviour.Honest, address(0), "");
            tokenBehaviour[address(assets[i])] = 0;
        }
    }

    /// @notice Sweeps any of the assets, some of them repeatedly. Each item comes to what it would alone.
    function sweep(uint256[] calldata which, uint32 gas, address caller) external {
        uint256 count = which.length < 12 ? which.length : 12;
        DepositFactory.Item[] memory some = new DepositFactory.Item[](count);
        for (uint256 i = 0; i < count; ++i) some[i] = items[which[i] % items.length];
        check(some, 150_000 + gas % 400_000, caller);
    }

    function sweepAll() external {
        check(items, 300_000, address(this));
    }

    function check(DepositFactory.Item[] memory some, uint256 callGas, address caller) private {
        vm.recordLogs();
        vm.prank(caller);
        uint256[] memory amounts = factory.sweep(some, callGas);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 logged = 0;
        for (uint256 i = 0; i < some.length; ++i) {
            address token = some[i].token;
            address forwarder = forwarderOf(some[i]);
            uint256 expected = isPayable(some[i]) ? held[forwarder][token] : 0;
            require(amounts[i] == expected, "an item comes to another amount than alone");
            held[forwarder][token] -= expected;
            arrived[some[i].recipient][token] += arriving(token, expected);
            if (expected > 0 || isFailure(some[i], forwarder)) {
                requireLog(logs[logged], forwarder, token, expected);
                ++logged;
            }
        }
        require(logged == logs.length, "another log");
    }

    /// @dev True when the token says that there is something, or does not say anything.
    function isFailure(DepositFactory.Item memory item, address forwarder) private view returns (bool) {
        if (isPayable(item)) return false;
        HostileToken.Behaviour behaviour = HostileToken.Behaviour(tokenBehaviour[item.token]);
        return held[forwarder][item.token] > 0 || behaviour == HostileToken.Behaviour.HidesBalance
            || behaviour == HostileToken.Behaviour.BurnsGasOfBalance || behaviour == HostileToken.Behaviour.Lies;
    }

    function isPayable(DepositFactory.Item memory item) private view returns (bool) {
        if (item.token == address(0)) {
            OddRecipient.Behaviour behaves = OddRecipient.Behaviour(recipientBehaviour[item.recipient]);
            return behaves != OddRecipient.Behaviour.Refuse && behaves != OddRecipient.Behaviour.BurnGas;
        }
        HostileToken.Behaviour behaviour = HostileToken.Behaviour(tokenBehaviour[item.token]);
        return behaviour == HostileToken.Behaviour.Honest || behaviour == HostileToken.Behaviour.Fee
            || behaviour == HostileToken.Behaviour.NoReturn || behaviour == HostileToken.Behaviour.MovesAndReturnsFalse
            || behaviour == HostileToken.Behaviour.ReturnsMuch || behaviour == HostileToken.Behaviour.CallsOut
            || behaviour == HostileToken.Behaviour.ReturnsMuchBalance;
    }

    function arriving(address token, uint256 amount) private view returns (uint256) {
        bool hasFee = tokenBehaviour[token] == uint256(HostileToken.Behaviour.Fee);
        return hasFee ? amount - amount / 100 : amount;
    }

    function requireLog(Vm.Log memory log, address forwarder, address token, uint256 amount) private view {
        require(log.emitter == address(factory), "a log of another contract");
        bytes32 topic = amount > 0 ? DepositFactory.Swept.selector : DepositFactory.SweepFailed.selector;
        require(log.topics[0] == topic, "another event");
        require(log.topics[1] == bytes32(uint256(uint160(forwarder))), "another forwarder");
        require(log.topics[2] == bytes32(uint256(uint160(token))), "another token");
        require(amount == 0 || abi.decode(log.data, (uint256)) == amount, "another amount");
    }
}
