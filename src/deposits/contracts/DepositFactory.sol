// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Forwarder} from "./Forwarder.sol";

/// @title Creates forwarders at addresses that are known before, and has them pay
/// @notice Anyone who knows the recipient and the salt of a forwarder can have it pay. It pays only its recipient.
contract DepositFactory {
    /// @notice An asset of a forwarder; the token is zero for coins.
    struct Item {
        address recipient;
        bytes32 salt;
        address token;
    }

    /// @notice The amount left the forwarder for its recipient. A token may have kept a fee of it.
    event Swept(address indexed forwarder, address indexed token, uint256 amount);
    /// @notice The token or the recipient refused, or took more gas. The asset stays where it is.
    event SweepFailed(address indexed forwarder, address indexed token);

    error SweepInProgress();
    error TooLittleGas();

    /// @dev Less could let a payment succeed while calls that the recipient makes for it run out of gas.
    uint256 private constant LEAST_CALL_GAS = 100_000;
    /// @dev Gas for what a sweep does around its calls and after the last one.
    uint256 private constant RESERVED_GAS = 50_000;

    bool private isIdle = true;

    /// @notice Address of a forwarder, also before it is created.
    function addressOf(address recipient, bytes32 salt) public view returns (address) {
        bytes32 codeHash = keccak256(abi.encodePacked(type(Forwarder).creationCode, abi.encode(recipient)));
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), salt, codeHash)))));
    }

    /// @notice Creates a forwarder unless it exists. Returns where it really is: a chain that derives addresses in another
    /// way than Ethereum is known by that.
    function create(address recipient, bytes32 salt) public returns (address forwarder) {
        forwarder = addressOf(recipient, salt);
        if (forwarder.code.length == 0) forwarder = address(new Forwarder{salt: salt}(recipient));
    }

    /// @notice Has forwarders pay all that they hold of assets, and creates those that hold something. Each item is tried
    /// by itself and changes nothing of the others.
    /// @param callGas Most gas of each call of a token or a recipient.
    /// @return amounts What left for each item; zero if it held nothing or failed.
    function sweep(Item[] calldata items, uint256 callGas) external returns (uint256[] memory amounts) {
        if (!isIdle) revert SweepInProgress();
        if (callGas < LEAST_CALL_GAS) revert TooLittleGas();
        isIdle = false;
        amounts = new uint256[](items.length);
        for (uint256 i = 0; i < items.length; ++i) amounts[i] = sweepItem(items[i], callGas);
        isIdle = true;
    }

    function sweepItem(Item calldata item, uint256 callGas) private returns (uint256 amount) {
        address token = item.token;
        address forwarder = addressOf(item.recipient, item.salt);
        (bool isKnown, uint256 held) = balanceOf(token, forwarder, callGas);
        if (isKnown && held == 0) return 0;
        if (isKnown) {
            address created = create(item.recipient, item.salt);
            if (pay(created, token, held, callGas)) {
                amount = token == address(0) ? held : decrease(token, forwarder, held, callGas);
            }
        }
        if (amount == 0) emit SweepFailed(forwarder, token);
        else emit Swept(forwarder, token, amount);
    }

    /// @dev Decrease of a balance: a token need not do what it was called for.
    function decrease(address token, address forwarder, uint256 held, uint256 callGas) private view returns (uint256) {
        (bool isKnown, uint256 left) = balanceOf(token, forwarder, callGas);
        return isKnown && left < held ? held - left : 0;
    }

    function pay(address forwarder, address token, uint256 amount, uint256 callGas) private returns (bool done) {
        requireGas(callGas);
        bytes memory input = abi.encode(token, amount);
        assembly {
            done := call(callGas, forwarder, 0, add(input, 32), mload(input), 0, 0)
        }
    }

    function balanceOf(address token, address holder, uint256 callGas)
        private
        view
        returns (bool isKnown, uint256 held)
    {
        if (token == address(0)) return (true, holder.balance);
        requireGas(callGas);
        bytes memory input = abi.encodeWithSignature("balanceOf(address)", holder);
        assembly {
            isKnown := staticcall(callGas, token, add(input, 32), mload(input), 0, 32)
            isKnown := and(isKnown, gt(returndatasize(), 31))
            held := mload(0)
        }
    }

    /// @dev A call gets at most 63/64 of the gas that is left (EIP-150). Without this, the sender of a sweep, or an estimate of
    /// its gas, could make sound items fail.
    function requireGas(uint256 callGas) private view {
        if (gasleft() < callGas + callGas / 63 + RESERVED_GAS) revert TooLittleGas();
    }
}
