import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contrast, minContrast } from '../../../src/http/pages/colours.ts';
import { schemes, stylesheet, tenantColours } from '../../../src/http/pages/stylesheet.ts';

const anyColour = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, '0')}`);

describe('the colours of the pages', () => {
  it('measures contrast as WCAG does', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
    expect(contrast('#1f5fbf', '#1F5FBF')).toBe(1);
  });

  it('can be read in both schemes, whatever colour a tenant has', () => {
    fc.assert(
      fc.property(anyColour, (color) => {
        for (const scheme of Object.values(schemes)) {
          const own = tenantColours(scheme, color);
          expect(contrast(own.button, own['button-ink'])).toBeGreaterThanOrEqual(minContrast);
          expect(contrast(own['button-pressed'], own['button-ink'])).toBeGreaterThanOrEqual(
            minContrast,
          );
          for (const background of [scheme.paper, scheme.card, scheme.tint]) {
            expect(contrast(own.accent, background)).toBeGreaterThanOrEqual(minContrast);
          }
        }
      }),
    );
  });

  it('can be read where the tenant has no say', () => {
    for (const scheme of Object.values(schemes)) {
      for (const background of [scheme.paper, scheme.card, scheme.tint]) {
        expect(contrast(scheme.ink, background)).toBeGreaterThanOrEqual(minContrast);
        expect(contrast(scheme.quiet, background)).toBeGreaterThanOrEqual(minContrast);
      }
      expect(contrast(scheme.danger, scheme.card)).toBeGreaterThanOrEqual(minContrast);
      expect(contrast(scheme.danger, scheme['danger-tint'])).toBeGreaterThanOrEqual(minContrast);
      expect(contrast(scheme.ink, scheme['danger-tint'])).toBeGreaterThanOrEqual(minContrast);
      // 1.4.11: the edge of a field is what shows that it is one.
      expect(contrast(scheme.edge, scheme.card)).toBeGreaterThanOrEqual(3);
    }
  });

  it('keeps the colour of the tenant where it can be read', () => {
    expect(tenantColours(schemes.light, '#1f5fbf')).toMatchObject({
      button: '#1f5fbf',
      accent: '#1f5fbf',
    });
    expect(tenantColours(schemes.light, '#ffd400')).toMatchObject({
      button: '#ffd400',
      'button-ink': '#000000',
    });
  });

  it('lets nothing but a colour into the style sheet', () => {
    const css = stylesheet({
      color: 'red}body{background:url(//evil.example)}',
      logoSvg: undefined,
    });
    expect(css).not.toContain('evil');
    expect(css).not.toMatch(/url\(|@import/);
  });
});
