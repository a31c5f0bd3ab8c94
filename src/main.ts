import { commandLine } from './commands/command-line.ts'
import { TERMINAL } from './commands/outcome.ts'

// Not awaited: a bundle of this is CommonJS, which has no `await` outside of functions.
void commandLine(process.argv.slice(2), TERMINAL).then(code => {
  process.exitCode = code
})
