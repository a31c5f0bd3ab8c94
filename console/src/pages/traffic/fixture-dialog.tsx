import { get } from '../../api/request.ts'
import type { Fixture } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { number } from '../../format.ts'
import { common } from '../../i18n/common.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Loaded } from '../../ui/states.tsx'
import { saveFile } from './save-file.ts'
import { text } from './texts.ts'

type File = Fixture['files'][number]

/** Dialog to download the files of a fixture one by one or all at once. */
export function FixtureDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const words = text().fixture
  const fixture = useLoad(signal => get<Fixture>(`/requests/${encodeURIComponent(id)}/fixture`, {}, signal), [id])
  return (
    <Dialog
      title={words.title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common().close}</Button>
          <Button
            kind="primary"
            icon="download"
            disabled={fixture.data === undefined}
            onClick={() => saveFile(`captured-${id.slice(-8)}.json`, JSON.stringify(fixture.data, null, 2))}
          >
            {words.all}
          </Button>
        </>
      }
    >
      <p>{words.text}</p>
      <Loaded of={fixture} lines={3}>
        {({ files }) => (
          <ul class="capture-files">
            {files.map((file: File) => (
              <li key={file.name}>
                <Icon name="right" size={14} />
                <code>{`fixtures/${file.name}`}</code>
                <span class="faint number">{number(file.content.length, { short: true })}</span>
                <IconButton
                  icon="download"
                  small
                  label={words.download(file.name)}
                  onClick={() => saveFile(file.name.slice(file.name.lastIndexOf('/') + 1), file.content)}
                />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Dialog>
  )
}
