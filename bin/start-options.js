/**
 * Replaces the process by one with the options of `npm start`, which V8 takes only at its start. The first line of the
 * program cannot state them: `env` of Alpine Linux and other systems with BusyBox has no `-S` (1.37, read on
 * 2026-12-01). Where Node cannot replace a process (Windows, Deno, Bun), the gateway runs without them and needs more
 * memory. A process with options of its own, and the child of another program, stay as they are.
 */
exports.startWithOptions = file => {
  const isNode = process.versions.bun === undefined && process.versions.deno === undefined
  const canReplace = isNode && process.platform !== 'win32' && process.execve !== undefined
  if (!canReplace || process.execArgv.length > 0 || process.connected) return
  process.execve(process.execPath, [process.execPath, ...OPTIONS, file, ...process.argv.slice(2)])
}

const OPTIONS = ['--max-semi-space-size=16', '--no-allocation-site-pretenuring']
