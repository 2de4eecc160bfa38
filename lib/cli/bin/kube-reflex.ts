#!/usr/bin/env node
import { runProgram } from '../framework/main.ts';
import { program } from './program.ts';

/** One name for all commands: `kube-reflex doctor --kubeconfig FILE` is `npm run doctor -- --kubeconfig FILE`. */
const { argv, env, stdout, stderr } = process;
process.exitCode = await runProgram(program, argv.slice(2), { environment: env, stdout, stderr });
