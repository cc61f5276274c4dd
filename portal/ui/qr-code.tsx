import { create } from 'qrcode';

const QUIET_ZONE = 4;

/** A QR code as one path, black on white in every scheme: cameras expect it so. `label` is what it leads to. */
export function QrCode({ content, label }: { content: string; label: string }) {
  const { size, data } = create(content, { errorCorrectionLevel: 'M' }).modules;
  const side = size + 2 * QUIET_ZONE;
  const dark = Array.from(data, (isDark, index) =>
    isDark ? `M${(index % size) + QUIET_ZONE} ${Math.floor(index / size) + QUIET_ZONE}h1v1h-1z` : '',
  );
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
      className="size-56 shrink-0 self-center rounded-md bg-white"
    >
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
}
