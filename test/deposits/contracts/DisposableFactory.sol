// SPDX-License-Identifier: MIT
pragma solidity ^0.8.27;

/// @title The form that is not used: creation code that pays all and ends in the transaction of its creation (EIP-6780)
/// @notice For comparison with DepositFactory. Coins that reach the address later in that transaction are burned.
contract DisposableFactory {
    event Swept(address indexed forwarder, address indexed token, uint256 amount);

    address[] private tokens;

    function addressOf(address recipient, bytes32 salt) public view returns (address) {
        bytes32 codeHash = keccak256(abi.encodePacked(type(Disposable).creationCode, abi.encode(recipient)));
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), salt, codeHash)))));
    }

    function current() external view returns (address[] memory) {
        return tokens;
    }

    function sweep(address recipient, bytes32[] calldata salts, address[] calldata tokens_) external {
        tokens = tokens_;
        for (uint256 i = 0; i < salts.length; ++i) {
            address at = addressOf(recipient, salts[i]);
            uint256 coins = at.balance;
            new Disposable{salt: salts[i]}(recipient);
            if (coins > 0) emit Swept(at, address(0), coins);
        }
        delete tokens;
    }

    function announce(address token, uint256 amount) external {
        emit Swept(msg.sender, token, amount);
    }
}

interface Token {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
}

contract Disposable {
    constructor(address recipient) {
        DisposableFactory factory = DisposableFactory(msg.sender);
        address[] memory tokens = factory.current();
        for (uint256 i = 0; i < tokens.length; ++i) {
            uint256 held = Token(tokens[i]).balanceOf(address(this));
            if (held == 0) continue;
            Token(tokens[i]).transfer(recipient, held);
            factory.announce(tokens[i], held);
        }
        selfdestruct(payable(recipient));
    }
}
