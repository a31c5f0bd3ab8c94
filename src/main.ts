import { commandLine } from './commands/command-line.ts'
import { TERMINAL } from './commands/outcome.ts'

process.exitCode = await commandLine(process.argv.slice(2), TERMINAL)
