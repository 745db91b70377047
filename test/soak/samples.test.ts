/** A leak is told from noise. */
import { describe, expect, it } from 'vitest';
import { courseOf, type Sample, slopeOf } from './samples.ts';

const megabyte = 1_000_000;

/** Two hours, a sample a minute; what grows is the memory of the API. */
const samplesOf = (memoryAt: (minute: number) => number): readonly Sample[] =>
  Array.from({ length: 120 }, (_, minute) => ({
    atSeconds: minute * 60,
    apiMemory: memoryAt(minute),
    workerMemory: 100 * megabyte,
    apiHandles: 40,
    workerHandles: 40,
    redisMemory: 50 * megabyte,
    redisKeys: 10_000,
    redisClients: 12,
  }));

describe('a slope', () => {
  it('is that of the line through points on a line', () => {
    expect(slopeOf([0, 1, 2, 3].map((x) => ({ x, y: 5 + 2 * x })))).toBeCloseTo(2);
    expect(slopeOf([{ x: 1, y: 1 }])).toBe(0);
  });
});

describe('the course of a quantity', () => {
  it('is flat when it only goes up and down', () => {
    const samples = samplesOf((minute) => 200 * megabyte + (minute % 7) * 5 * megabyte);
    expect(courseOf(samples, 'apiMemory')).toMatchObject({ flat: true });
  });

  it('is flat when it has grown in the first half and stays there', () => {
    const samples = samplesOf((minute) => Math.min(minute, 50) * 5 * megabyte);
    expect(courseOf(samples, 'apiMemory')).toMatchObject({ flat: true });
  });

  it('is not flat when it goes on growing, however noisily', () => {
    const samples = samplesOf(
      (minute) => 100 * megabyte + minute * megabyte + (minute % 5) * 3 * megabyte,
    );
    const course = courseOf(samples, 'apiMemory');
    expect(course.flat).toBe(false);
    expect(course.growth / megabyte).toBeCloseTo(60, -1);
  });

  it('is told by what garbage collections leave, not by when the last one was', () => {
    const sawtooth = (minute: number) => 200 * megabyte + ((minute + 1) % 20) * 20 * megabyte;
    expect(courseOf(samplesOf(sawtooth), 'apiMemory')).toMatchObject({ flat: true });
    const leak = (minute: number) => sawtooth(minute) + 3 * minute * megabyte;
    expect(courseOf(samplesOf(leak), 'apiMemory').flat).toBe(false);
  });

  it('is flat when it falls', () => {
    expect(
      courseOf(
        samplesOf((minute) => (300 - minute) * megabyte),
        'apiMemory',
      ).flat,
    ).toBe(true);
  });

  it('cannot be told from too few samples', () => {
    expect(() => courseOf(samplesOf(() => 1).slice(0, 4), 'apiMemory')).toThrow(RangeError);
  });
});
