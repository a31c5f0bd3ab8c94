import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'

/*
 * Runs inside a network namespace with its own loopback: `relay.ts SOCKET PORT PROGRAM ...ARGS` forwards the port to a
 * Unix socket, runs the program, and exits with its exit code.
 */

const [socket = '', port = '', program = '', ...args] = process.argv.slice(2)

const server = createServer(caller => {
  const beyond = connect(socket)
  caller.on('error', () => beyond.destroy())
  beyond.on('error', () => caller.destroy())
  caller.pipe(beyond).pipe(caller)
})
server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(program, args, { stdio: 'inherit' })
  child.on('error', fault => {
    console.error(fault.message)
    process.exit(127)
  })
  child.on('exit', code => process.exit(code ?? 1))
})
