import { commandLine } from './commands/command-line.ts'
import { TERMINAL } from './commands/outcome.ts'

// The reader of the output may end before it has read everything (`| head`), which is no fault of the command.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EPIPE') throw fault
  })

// The promise is not awaited: the bundle is CommonJS, which has no top-level `await`.
void commandLine(process.argv.slice(2), TERMINAL).then(code => {
  process.exitCode = code
})
