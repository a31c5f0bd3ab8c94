/** One instruction of a Dockerfile, such as `COPY --from=build /a /b`. */
export interface Step {
  readonly instruction: string
  readonly flags: { readonly [name: string]: string }
  /** The instruction's words as written. */
  readonly text: string
}

export interface Stage {
  readonly base: string
  readonly name: string | undefined
  readonly steps: readonly Step[]
}

/** Reads the stages of a Dockerfile. Comments and continued lines are resolved. */
export function stagesOf(file: string): readonly Stage[] {
  const stages: { base: string; name: string | undefined; steps: Step[] }[] = []
  const lines = file
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter(line => line.trim() !== '')
  for (const step of lines.map(stepOf)) {
    const [base = '', , name] = step.text.split(/\s+/)
    if (step.instruction === 'FROM') stages.push({ base, name, steps: [] })
    else stages.at(-1)!.steps.push(step)
  }
  return stages
}

const LINE = /^\s*(\w+)((?:\s+--[\w-]+=\S+)*)\s+(.*\S)\s*$/s

function stepOf(line: string): Step {
  const [, instruction, flags, text] = LINE.exec(line)!
  const pairs = [...flags!.matchAll(/--([\w-]+)=(\S+)/g)].map(([, name, value]) => [name!, value!] as const)
  return { instruction: instruction!.toUpperCase(), flags: Object.fromEntries(pairs), text: text! }
}

/** Words of an instruction in exec form, such as `["node", "-e"]`. `CMD` of a health check stands before them. */
export const wordsOf = (text: string): readonly string[] => JSON.parse(text.replace(/^CMD\s+/, '')) as readonly string[]
