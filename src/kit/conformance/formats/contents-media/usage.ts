import { compact, type Json, type JsonObject, listOf, numberOf, objectOf } from '../../json.ts'
import { type MediaUsage, partOf } from '../../media/usage.ts'

const countOf = (details: Json | undefined, modality: string): number | undefined =>
  numberOf(
    listOf(details)
      .map(objectOf)
      .find(one => one['modality'] === modality)?.['tokenCount'],
  )

/** Reads the token counts of Google's format, including counts per modality. */
export function modalityUsage(usage: JsonObject): MediaUsage {
  const { promptTokensDetails: input, candidatesTokensDetails: output } = usage
  return compact({
    input: numberOf(usage['promptTokenCount']),
    output: numberOf(usage['candidatesTokenCount']),
    inputText: partOf(countOf(input, 'TEXT'), usage['promptTokenCount']),
    inputImage: countOf(input, 'IMAGE'),
    outputText: countOf(output, 'TEXT'),
    outputImage: countOf(output, 'IMAGE'),
  }) as MediaUsage
}
