import { get } from '../../api/request.ts'
import type { AllOf, SideRecording } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { number } from '../../format.ts'
import { common } from '../../i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/states.tsx'
import { saveFile } from './save-file.ts'
import { text } from './texts.ts'

/** Dialog to download a request as recordings, with the commands that judge and replay them. */
export function RecordingsDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const words = text().recordings
  const path = `/requests/${encodeURIComponent(id)}/recordings`
  const recordings = useLoad(signal => get<AllOf<SideRecording>>(path, {}, signal), [id])
  return (
    <Dialog title={words.title} wide onClose={onClose} footer={<Button onClick={onClose}>{common().close}</Button>}>
      <p>{words.text}</p>
      <Loaded of={recordings} lines={3}>
        {({ data }) => (
          <div class="recordings">
            {data.map(one => (
              <Side key={one.side} of={one} />
            ))}
          </div>
        )}
      </Loaded>
    </Dialog>
  )
}

function Side({ of: { side, name, content, missing } }: { readonly of: SideRecording }) {
  const words = text().recordings
  return (
    <section>
      <header>
        <h3>{words.sides[side]}</h3>
        {name !== undefined && content !== undefined && (
          <Button small icon="download" onClick={() => saveFile(name, content)}>
            {words.save} <span class="faint number">{number(content.length, { short: true })}</span>
          </Button>
        )}
      </header>
      {missing !== undefined && <p class="note">{words.missing[missing]}</p>}
      {name !== undefined && (
        <>
          <Code wrap label={words.judge} text={`npx interlingua conformance judge ${name}`} />
          <Code
            wrap
            label={words.replay}
            text={`mkdir -p recordings && mv ${name} recordings && npx interlingua replay recordings`}
          />
        </>
      )}
    </section>
  )
}
