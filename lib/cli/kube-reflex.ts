#!/usr/bin/env node
const commands = ['start', 'doctor', 'release', 'can-i', 'manifests', 'new'];

/** One name for all commands: `kube-reflex doctor --kubeconfig FILE` is `npm run doctor -- --kubeconfig FILE`. */
const [command = '--help'] = process.argv.splice(2, 1);
if (commands.includes(command)) {
  await import(`./${command}.ts`);
} else {
  const usage = `usage: kube-reflex COMMAND [--help]\n  COMMAND  ${commands.join(', ')}`;
  console.error(command === '--help' ? usage : `there is no command ${JSON.stringify(command)}\n${usage}`);
  process.exitCode = command === '--help' ? 0 : 2;
}
