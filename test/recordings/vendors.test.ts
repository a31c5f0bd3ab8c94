import { describe, expect, test } from 'vitest'
import { READERS } from '../../src/ingress/index.ts'
import { VENDORS } from '../laws/vendors/index.ts'
import { refusedBy, sentTo } from '../laws/vendors/sent.ts'
import { formatsOf, present, recorded, recordingsOf, where } from './recording.ts'

/** Recorded requests, which were sent to other vendors or models. */
const requests = recorded(formatsOf('request')).flatMap(format =>
  recordingsOf(format).flatMap(({ name, request }) => (request === undefined ? [] : [{ format, name, request }])),
)

describe.skipIf(!present).each(VENDORS)(`recorded requests are accepted by $preset in $format${where}`, vendor => {
  test.each(vendor.models)('%s', model => {
    const refused = requests.flatMap(({ format, name, request }) => {
      const asked = READERS[format]!.request!(request)
      const origin = { native: format === vendor.format, callerModel: asked.model }
      const faults = refusedBy(vendor, sentTo(vendor, { ...asked, model }, origin), model, origin)
      return faults.map(fault => `${format}/${name}: ${fault}`)
    })
    expect(refused).toEqual([])
  })
})
