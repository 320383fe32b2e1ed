// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title A token that breaks one rule of ERC-20
contract HostileToken {
    enum Behaviour {
        Honest,
        Fee,
        NoReturn,
        MovesAndReturnsFalse,
        ReturnsFalse,
        MovesNothing,
        Reverts,
        BurnsGas,
        ReturnsMuch,
        RevertsWithMuch,
        CallsOut,
        HidesBalance,
        BurnsGasOfBalance,
        ReturnsMuchBalance,
        Lies
    }

    Behaviour private behaviour;
    mapping(address => uint256) public balances;
    address private target;
    bytes private data;
    bool public hasCalled;

    function behave(Behaviour behaviour_, address target_, bytes calldata data_) external {
        behaviour = behaviour_;
        target = target_;
        data = data_;
    }

    function mint(address to, uint256 amount) external {
        balances[to] += amount;
    }

    function mintEach(address[] calldata to, uint256 amount) external {
        for (uint256 i = 0; i < to.length; ++i) balances[to[i]] += amount;
    }

    function balanceOf(address account) external view returns (uint256) {
        if (behaviour == Behaviour.HidesBalance) revert("hidden");
        if (behaviour == Behaviour.BurnsGasOfBalance) while (true) {}
        if (behaviour == Behaviour.ReturnsMuchBalance) giveMuch(balances[account], false);
        if (behaviour == Behaviour.Lies) return type(uint256).max;
        return balances[account];
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        if (behaviour == Behaviour.Reverts) revert("frozen");
        if (behaviour == Behaviour.BurnsGas) while (true) {}
        if (behaviour == Behaviour.RevertsWithMuch) giveMuch(1, true);
        if (behaviour == Behaviour.ReturnsFalse) return false;
        if (behaviour == Behaviour.MovesNothing || behaviour == Behaviour.Lies) return true;
        if (behaviour == Behaviour.CallsOut) {
            (bool done,) = target.call(data);
            hasCalled = done;
        }
        balances[msg.sender] -= amount;
        balances[to] += behaviour == Behaviour.Fee ? amount - amount / 100 : amount;
        if (behaviour == Behaviour.MovesAndReturnsFalse) return false;
        if (behaviour == Behaviour.ReturnsMuch) giveMuch(1, false);
        if (behaviour == Behaviour.NoReturn) {
            assembly {
                return(0, 0)
            }
        }
        return true;
    }

    function giveMuch(uint256 first, bool reverts) private pure {
        assembly {
            mstore(0, first)
            switch reverts
            case 0 { return(0, 100000) }
            default { revert(0, 100000) }
        }
    }
}
