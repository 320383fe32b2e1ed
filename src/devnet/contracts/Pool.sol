// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title A pool in which two tokens are exchanged, at the ratio of what it holds of them
/// @notice Emits the events of a Uniswap V2 pair. It takes the tokens it is sold by itself, so that a trade is one
/// transaction without a router, and keeps what it was given: there are no shares in it and no way to take them out.
contract Pool {
    using SafeERC20 for IERC20;

    /// The part of what is sold that stays in the pool: 3 of 1,000.
    uint256 private constant KEPT = 3;
    uint256 private constant OF = 1_000;

    address public immutable factory;
    address public immutable token0;
    address public immutable token1;

    uint112 private _reserve0;
    uint112 private _reserve1;
    uint32 private _changedAt;

    event Mint(address indexed sender, uint256 amount0, uint256 amount1);
    event Swap(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        address indexed to
    );
    event Sync(uint112 reserve0, uint112 reserve1);

    error UnknownToken(address token);
    error TooLittle(uint256 amountOut, uint256 wanted);
    error TooMuch(uint256 balance);

    constructor(address token0_, address token1_) {
        factory = msg.sender;
        token0 = token0_;
        token1 = token1_;
    }

    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast) {
        return (_reserve0, _reserve1, _changedAt);
    }

    /// @notice Counts in whatever was transferred to the pool since it last changed.
    function mint() external {
        (uint256 had0, uint256 had1) = (_reserve0, _reserve1);
        _sync();
        emit Mint(msg.sender, _reserve0 - had0, _reserve1 - had1);
    }

    /// @notice Sells tokens that the pool has been approved for; the other ones go to `to`.
    function sell(address token, uint256 amount, uint256 atLeast, address to) external returns (uint256 amountOut) {
        if (token != token0 && token != token1) revert UnknownToken(token);
        bool isFirst = token == token0;
        (uint256 had, uint256 hadOther) = isFirst ? (_reserve0, _reserve1) : (_reserve1, _reserve0);
        uint256 counted = amount * (OF - KEPT);
        amountOut = (counted * hadOther) / (had * OF + counted);
        if (amountOut < atLeast) revert TooLittle(amountOut, atLeast);

        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        IERC20(isFirst ? token1 : token0).safeTransfer(to, amountOut);
        _sync();
        if (isFirst) emit Swap(msg.sender, amount, 0, 0, amountOut, to);
        else emit Swap(msg.sender, 0, amount, amountOut, 0, to);
    }

    function _sync() private {
        _reserve0 = _held(token0);
        _reserve1 = _held(token1);
        _changedAt = uint32(block.timestamp);
        emit Sync(_reserve0, _reserve1);
    }

    function _held(address token) private view returns (uint112) {
        uint256 balance = IERC20(token).balanceOf(address(this));
        if (balance > type(uint112).max) revert TooMuch(balance);
        return uint112(balance);
    }
}
