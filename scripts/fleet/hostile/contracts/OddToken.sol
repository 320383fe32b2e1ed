// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title A token that breaks the habits of ERC-20 in one way
contract OddToken {
    enum Oddity {
        Fee,
        NoReturn,
        ExtraTopic,
        NoDecimals,
        ManyDecimals,
        HugeName,
        RevertingMetadata,
        BurningGas,
        UnreadableText
    }

    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");

    Oddity private immutable _oddity;
    mapping(address => uint256) public balanceOf;

    constructor(Oddity oddity) {
        _oddity = oddity;
        balanceOf[msg.sender] = 1e30;
    }

    function name() external view returns (string memory) {
        checkMetadata();
        if (_oddity == Oddity.HugeName) return string(new bytes(1_000_000));
        if (_oddity == Oddity.UnreadableText) return string(abi.encodePacked(hex"ff00c3283c2f7469746c653ee280ae0a"));
        return "Odd Token";
    }

    function symbol() external view returns (string memory) {
        checkMetadata();
        return _oddity == Oddity.HugeName ? string(new bytes(1_000_000)) : "ODD";
    }

    function decimals() external view returns (uint8) {
        checkMetadata();
        if (_oddity == Oddity.NoDecimals) revert();
        return _oddity == Oddity.ManyDecimals ? 255 : 6;
    }

    function totalSupply() external view returns (uint256) {
        checkMetadata();
        return _oddity == Oddity.ManyDecimals ? type(uint256).max : 1e30;
    }

    /// @notice Leads into the private network of its reader.
    function tokenURI(uint256) external pure returns (string memory) {
        return "https://169.254.169.254/metadata.json";
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        uint256 arriving = _oddity == Oddity.Fee ? amount - amount / 100 : amount;
        balanceOf[msg.sender] -= amount;
        unchecked {
            balanceOf[to] += arriving;
        }
        announce(to, arriving);
        if (_oddity == Oddity.NoReturn) {
            assembly {
                return(0, 0)
            }
        }
        return true;
    }

    /// With an extra topic the amount is indexed, as in an ERC-721 transfer, and also in the data.
    function announce(address to, uint256 amount) private {
        bytes32 from = bytes32(uint256(uint160(msg.sender)));
        bytes32 receiver = bytes32(uint256(uint160(to)));
        bool hasExtraTopic = _oddity == Oddity.ExtraTopic;
        bytes32 transferTopic = TRANSFER;
        assembly {
            mstore(0, amount)
            switch hasExtraTopic
            case 1 { log4(0, 32, transferTopic, from, receiver, amount) }
            default { log3(0, 32, transferTopic, from, receiver) }
        }
    }

    function checkMetadata() private view {
        if (_oddity == Oddity.RevertingMetadata) revert("no metadata");
        if (_oddity == Oddity.BurningGas) {
            while (true) {}
        }
    }
}
