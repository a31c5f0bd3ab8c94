import { useState } from 'preact/hooks'
import { get } from '../../api/request.ts'
import type { AllOf, TranslateExample } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { formatName } from '../../i18n/formats.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { matches, SearchBox } from '../../ui/search-box.tsx'
import { Loaded } from '../../ui/states.tsx'
import { FORMATS } from './source.tsx'
import { exampleName, text } from './texts.ts'

interface ExamplesProps {
  readonly onChoose: (example: TranslateExample) => void
  readonly onClose: () => void
}

/** Dialog with example texts of all formats. */
export function Examples({ onChoose, onClose }: ExamplesProps) {
  const [search, setSearch] = useState('')
  const examples = useLoad(signal => get<AllOf<TranslateExample>>('/translate/examples', undefined, signal))
  const found = inOrder(examples.data?.data ?? []).filter(one =>
    matches(search, formatName(one.format), text().kindsOfText[one.kind], exampleName(one.name), one.format),
  )
  return (
    <Dialog title={text().examples} onClose={onClose} wide onSubmit={() => found[0] && onChoose(found[0])}>
      <SearchBox value={search} onValue={setSearch} label={text().searchExamples} autofocus />
      <Loaded of={examples} lines={8}>
        {() => {
          if (found.length === 0) return <p class="faint">{text().noExamples}</p>
          return (
            <div class="examples">
              {[...Map.groupBy(found, ({ format }) => format)].map(([format, all]) => (
                <section key={format} aria-label={formatName(format)}>
                  <h3>{formatName(format)}</h3>
                  <ul>
                    {all.map(one => (
                      <li key={`${one.kind}-${one.name}`}>
                        <button type="button" onClick={() => onChoose(one)}>
                          <span>{exampleName(one.name)}</span>
                          <span class="faint">{text().kindsOfText[one.kind]}</span>
                        </button>
                      </li>
                    ))}
                  </ul>
                </section>
              ))}
            </div>
          )
        }}
      </Loaded>
    </Dialog>
  )
}

/** Sorts examples in the order of the formats' rows. */
function inOrder(examples: readonly TranslateExample[]): readonly TranslateExample[] {
  const rank = ({ format }: TranslateExample): number => FORMATS.indexOf(format)
  return examples.toSorted((one, other) => rank(one) - rank(other))
}
