<!-- function fake() {} -->
<?php

declare(strict_types=1);

namespace Pantry\Storage;

use InvalidArgumentException;

const LIMIT = 12;

/**
 * What can be weighed. class Fake {}
 */
interface Weighable
{
    public function grams(): float;
}

trait Labelled
{
    private string $label = 'function label() {';

    public function label(): string
    {
        return $this->label;
    }
}

enum Size: string
{
    case Small = 'small';
    case Large = 'large';

    public function litres(): int
    {
        return $this === self::Small ? 1 : 2;
    }
}

/** One jar. */
#[\AllowDynamicProperties]
final class Jar implements Weighable
{
    use Labelled;

    public const KIND = 'jar';

    public function __construct(string $label, private float $grams = 0)
    {
        $this->label = $label;
    }

    // In grams.
    public function grams(): float
    {
        return $this->grams;
    }

    public static function parse(string $text): static
    {
        [$label, $grams] = explode(':', $text);
        $check = function (string $grams): float {
            return (float) $grams;
        };

        return new static($label, $check($grams));
    }
}

function shelf(Jar ...$jars): array
{
    if (count($jars) > LIMIT) {
        throw new InvalidArgumentException(<<<TEXT
            class NotHere {
            TEXT);
    }

    return array_map(fn (Jar $jar) => $jar->label(), $jars);
}
?>
<p><?= count(shelf()) ?></p>
