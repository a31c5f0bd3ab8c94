import { commandLine } from './commands/command-line.ts'
import { TERMINAL } from './commands/outcome.ts'

// The reader of the output may exit before it has read everything (`| head`). That is not the command's fault.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EPIPE') throw fault
  })

// The promise is not awaited: the bundle is CommonJS, which has no top-level `await`.
void commandLine(process.argv.slice(2), TERMINAL).then(code => {
  process.exitCode = code
})
