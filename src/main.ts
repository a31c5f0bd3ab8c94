import { commandLine } from './commands/command-line.ts'
import { TERMINAL } from './commands/outcome.ts'

// The promise is not awaited: the bundle is CommonJS, which has no top-level `await`.
void commandLine(process.argv.slice(2), TERMINAL).then(code => {
  process.exitCode = code
})
