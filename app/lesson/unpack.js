// What the file carries, unpacked: columns of all pictures, of which each picture reads its own rows.

const UNKNOWN = 32767

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

// Each reads rows of a column whose three bytes a row lie in three planes, one after the other.
const READERS = {
  digits: (bytes, i, n, missing) => {
    const mantissa = (bytes[i] | bytes[i + n] << 8) << 16 >> 16, exponent = bytes[i + 2 * n] << 24 >> 24
    return mantissa === UNKNOWN ? missing : Number(`${mantissa}e${exponent}`)
  },
  floats: (() => {
    const view = new DataView(new ArrayBuffer(4))
    return (bytes, i, n) => {
      view.setUint32(0, bytes[i + 2 * n] << 24 | bytes[i + n] << 16 | bytes[i] << 8)
      return view.getFloat32(0)
    }
  })(),
  places: (bytes, i, n) => bytes[i] | bytes[i + n] << 8 | bytes[i + 2 * n] << 16,
}

async function unpacked(text) {
  const bytes = await inflated(text), long = new DataView(bytes.buffer).getUint32(0, true)
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + long)))
  const columns = {}
  let at = 4 + long
  for (const [name, kind, count] of head.columns) {
    columns[name] = {read: READERS[kind], count, bytes: bytes.subarray(at, at + 3 * count)}
    at += 3 * count
  }
  const rows = (name, from, count) => {
    const {read, bytes: held, count: all} = columns[name]
    return Array.from({length: count}, (_, i) => read(held, from + i, all, head.missing))
  }
  const starts = {arrows: 0, former: 0}
  for (const cloud of head.clouds) {
    cloud.from = {...starts}
    starts.arrows += cloud.arrows
    starts.former += cloud.former
  }
  const points = head.rings && columns.ring_x.count / head.rings
  const worded = (name, from, count) => rows(name, from, count).map((place) => head.words[place])

  // The rows of a picture, as the live page has them in its sources.
  const arrows = (cloud) => {
    const some = (name) => rows(name, cloud.from.arrows, cloud.arrows)
    const word = (name) => worded(name, cloud.from.arrows, cloud.arrows)
    const made = {}
    for (const name of ["site", "x", "y", "alpha", "width", "student", "teacher", "raised_student", "raised_teacher",
      "signal", "share", "norm"]) made[name] = some(name)
    for (const name of ["token", "raised", "before", "held"]) made[name] = word(name)
    made.other = made.raised.map((each, i) => each === "" || each === made.token[i] ? "none" : "table-row")
    // The longest are drawn last.
    made.length = made.x.map((_, i) => i)
    const whole = some("whole").map((far, i) => far > -head.missing / 2 ? null : far / Math.hypot(made.x[i], made.y[i]))
    for (const axis of ["x", "y"]) {
      made[`whole_${axis}`] = whole.map((factor, i) => factor === null ? head.missing : factor * made[axis][i])
    }
    return made
  }
  const former = (cloud) => Object.fromEntries(
    ["x0", "y0", "x1", "y1"].map((name) => [name, rows(name, cloud.from.former, cloud.former)]))
  const ring = (cloud) => ({
    x: rows("ring_x", cloud.ring * points, points), y: rows("ring_y", cloud.ring * points, points),
  })
  return {head, arrows, former, ring}
}
