/** Example program that receives webhooks and accepts only signed requests. */
export interface Receiver {
  readonly language: string;
  readonly file: string;
  /** Start command, used with the secret in `WEBHOOK_SECRET` and the port in `PORT`. */
  readonly start: string;
  readonly code: string;
}

const NODE = `// receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET: secret, PORT: port = '8080' } = process.env;
const done = new Set(); // in real life a table with a unique key

function isGenuine(body, signature) {
  const expected = createHmac('sha256', secret).update(body).digest();
  const given = Buffer.from(String(signature), 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks); // the bytes: JSON that was parsed and written again has another signature
  const signatures = [request.headers['x-service-signature'], request.headers['x-service-signature-previous']];
  if (!signatures.some(signature => isGenuine(body, signature))) return response.writeHead(401).end();
  const event = JSON.parse(body);
  if (!done.has(event.id)) console.log(event.event, event.id);
  done.add(event.id);
  response.writeHead(204).end();
}).listen(Number(port), '127.0.0.1');
`;

const PYTHON = `# receiver.py
import hashlib, hmac, json, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
done = set()  # in real life a table with a unique key


def is_genuine(body, signature):
    expected = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), (signature or "").encode())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))  # the bytes, as in Node
        signatures = (self.headers["X-Service-Signature"], self.headers["X-Service-Signature-Previous"])
        if not any(is_genuine(body, signature) for signature in signatures):
            return self.answer(401)
        event = json.loads(body)
        if event["id"] not in done:
            print(event["event"], event["id"], flush=True)
        done.add(event["id"])
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
`;

const GO = `// receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
)

var secret = []byte(os.Getenv("WEBHOOK_SECRET"))
var done sync.Map // in real life a table with a unique key

func isGenuine(body []byte, signature string) bool {
	given, err := hex.DecodeString(signature)
	code := hmac.New(sha256.New, secret)
	code.Write(body)
	return err == nil && hmac.Equal(given, code.Sum(nil))
}

func receive(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body) // the bytes: JSON that was parsed and written again has another signature
	header := request.Header
	if err != nil || !isGenuine(body, header.Get("X-Service-Signature")) &&
		!isGenuine(body, header.Get("X-Service-Signature-Previous")) {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	var event struct {
		ID    string \`json:"id"\`
		Event string \`json:"event"\`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	if _, isDone := done.LoadOrStore(event.ID, true); !isDone {
		fmt.Println(event.Event, event.ID)
	}
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(receive)))
}
`;

const PHP = `<?php // receiver.php
$body = file_get_contents('php://input'); // the bytes: JSON that was parsed and written again has another signature

function isGenuine(string $body, string $signature): bool
{
    return hash_equals(hash_hmac('sha256', $body, getenv('WEBHOOK_SECRET')), $signature);
}

$current = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '';
$previous = $_SERVER['HTTP_X_SERVICE_SIGNATURE_PREVIOUS'] ?? '';
if (!isGenuine($body, $current) && !isGenuine($body, $previous)) {
    http_response_code(401);
    exit;
}
$event = json_decode($body, true);
$done = sys_get_temp_dir() . '/' . $event['id']; // in real life a table with a unique key
if (@fopen($done, 'x') !== false) {
    file_put_contents('php://stdout', $event['event'] . ' ' . $event['id'] . PHP_EOL);
}
http_response_code(204);
`;

const RUBY = `# receiver.rb
require "json"
require "openssl"
require "webrick" # gem install webrick

SECRET = ENV.fetch("WEBHOOK_SECRET")
done = {} # in real life a table with a unique key

def genuine?(body, signature)
  OpenSSL.secure_compare(OpenSSL::HMAC.hexdigest("SHA256", SECRET, body), signature.to_s)
end

server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: ENV.fetch("PORT", "8080").to_i)
server.mount_proc("/") do |request, response|
  body = request.body.to_s # the bytes: JSON that was parsed and written again has another signature
  signatures = [request["X-Service-Signature"], request["X-Service-Signature-Previous"]]
  if signatures.none? { |signature| genuine?(body, signature) }
    response.status = 401
    next
  end
  event = JSON.parse(body)
  $stdout.puts(event["event"] + " " + event["id"]) unless done[event["id"]]
  $stdout.flush
  done[event["id"]] = true
  response.status = 204
end
trap("TERM") { server.shutdown }
server.start
`;

/** The programs that the page of a webhook shows; those in Node and Python are in docs/payments.md, too. */
export const RECEIVERS: readonly Receiver[] = [
  { language: 'Node', file: 'receiver.mjs', start: 'node receiver.mjs', code: NODE },
  { language: 'Python', file: 'receiver.py', start: 'python3 receiver.py', code: PYTHON },
  { language: 'Go', file: 'receiver.go', start: 'go run receiver.go', code: GO },
  { language: 'PHP', file: 'receiver.php', start: 'php -S 127.0.0.1:8080 receiver.php', code: PHP },
  { language: 'Ruby', file: 'receiver.rb', start: 'ruby receiver.rb', code: RUBY },
];
