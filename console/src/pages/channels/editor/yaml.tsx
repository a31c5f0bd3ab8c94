import type { ChannelYaml } from '../../../api/types.ts'
import { Code } from '../../../ui/code.tsx'
import { text } from '../texts.ts'

/** A channel as text for the config file, with the variables that it needs. */
export const Yaml = ({ of: { yaml, variables } }: { readonly of: ChannelYaml }) => (
  <>
    <Code label={text().editor.yaml} text={yaml} />
    {variables.length > 0 && <p class="note">{text().editor.variables(variables.join(', '))}</p>}
  </>
)
