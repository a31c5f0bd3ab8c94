import './editor.css'
import { get } from '../../../api/request.ts'
import type { AllOf, ChannelDetails, Provider } from '../../../api/types.ts'
import { useLoad } from '../../../api/use-load.ts'
import { common } from '../../../i18n/common.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Loaded } from '../../../ui/states.tsx'
import { text } from '../texts.ts'
import { EditorForm } from './form.tsx'
import type { ChannelConfig } from './values.ts'

interface ChannelEditorProps {
  /** Name of the stored channel to change. Undefined for a new one. */
  readonly name?: string | undefined
  readonly onSaved: (channel: ChannelDetails) => void
  readonly onClose: () => void
}

interface Given {
  readonly providers: readonly Provider[]
  readonly config: ChannelConfig | undefined
}

async function loadGiven(name: string | undefined, signal: AbortSignal): Promise<Given> {
  const [providers, details] = await Promise.all([
    get<AllOf<Provider>>('/providers', {}, signal),
    name === undefined ? undefined : get<ChannelDetails>(`/channels/${encodeURIComponent(name)}`, {}, signal),
  ])
  return { providers: providers.data, config: details?.config }
}

/** Form that adds a channel or changes a stored one, after its providers are loaded. */
export function ChannelEditor({ name, onSaved, onClose }: ChannelEditorProps) {
  const given = useLoad(signal => loadGiven(name, signal), [name])
  if (given.data !== undefined) return <EditorForm {...given.data} onSaved={onSaved} onClose={onClose} />
  return (
    <Dialog
      title={name === undefined ? text().editor.create : text().editor.change(name)}
      place="side"
      wide
      onClose={onClose}
      footer={<Button onClick={onClose}>{common().cancel}</Button>}
    >
      <Loaded of={given} lines={6}>
        {() => null}
      </Loaded>
    </Dialog>
  )
}
