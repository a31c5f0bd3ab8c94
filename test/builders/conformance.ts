import { commandLine } from '../../src/commands/command-line.ts'

/** Runs `interlingua conformance` in this process. Returns its exit code and what it printed. */
export async function conformance(...args: string[]) {
  let out = ''
  let fault = ''
  const terminal = { out: (text: string) => (out += `${text}\n`), fault: (text: string) => (fault += `${text}\n`) }
  const code = await commandLine(['conformance', ...args], terminal)
  return { code, out, fault }
}
