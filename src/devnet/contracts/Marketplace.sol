// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";

/// @title A market that tells of its sales as Seaport does
/// @notice Whoever approves it for a token offers that token at the list price. Stands in for Seaport, whose event it
/// emits with the same meaning and whose orders, signatures and conduits it lacks.
contract Marketplace {
    enum ItemType {
        NATIVE,
        ERC20,
        ERC721,
        ERC1155
    }

    struct SpentItem {
        ItemType itemType;
        address token;
        uint256 identifier;
        uint256 amount;
    }

    struct ReceivedItem {
        ItemType itemType;
        address token;
        uint256 identifier;
        uint256 amount;
        address payable recipient;
    }

    /// In parts of 10,000.
    uint256 public constant FEE = 250;

    address payable public immutable feeRecipient;
    uint256 public sales;

    event OrderFulfilled(
        bytes32 orderHash,
        address indexed offerer,
        address indexed zone,
        address recipient,
        SpentItem[] offer,
        ReceivedItem[] consideration
    );

    error WrongPayment(uint256 wanted, uint256 paid);
    error NotOffered(address token, uint256 id);
    error PaymentFailed(address recipient);

    constructor(address payable feeRecipient_) {
        feeRecipient = feeRecipient_;
    }

    function priceOf(uint256 id) public pure returns (uint256) {
        return (1 + id % 9) * 0.01 ether;
    }

    function buy(IERC721 token, uint256 id) external payable {
        uint256 price = priceOf(id);
        if (msg.value != price) revert WrongPayment(price, msg.value);
        if (token.getApproved(id) != address(this)) revert NotOffered(address(token), id);
        address payable seller = payable(token.ownerOf(id));
        uint256 fee = price * FEE / 10_000;

        SpentItem[] memory offer = new SpentItem[](1);
        offer[0] = SpentItem(ItemType.ERC721, address(token), id, 1);
        ReceivedItem[] memory consideration = new ReceivedItem[](2);
        consideration[0] = ReceivedItem(ItemType.NATIVE, address(0), 0, price - fee, seller);
        consideration[1] = ReceivedItem(ItemType.NATIVE, address(0), 0, fee, feeRecipient);
        bytes32 orderHash = keccak256(abi.encode(block.chainid, address(this), sales++, offer, consideration));
        emit OrderFulfilled(orderHash, seller, address(0), msg.sender, offer, consideration);

        token.safeTransferFrom(seller, msg.sender, id);
        _pay(seller, price - fee);
        _pay(feeRecipient, fee);
    }

    function _pay(address payable recipient, uint256 amount) private {
        (bool paid, ) = recipient.call{value: amount}("");
        if (!paid) revert PaymentFailed(recipient);
    }
}
