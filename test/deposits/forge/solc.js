#!/usr/bin/env node
/** The compiler of the npm package as the program that forge expects: it prints its version, or compiles standard input. */
import { readFileSync } from 'node:fs';
import solc from 'solc';

process.stdout.write(
  process.argv.includes('--version')
    ? `Version: ${solc.version().replace('.Emscripten.clang', '.Linux.g++')}\n`
    : solc.compile(readFileSync(0, 'utf8')),
);
