package io.mortise.console.page;

import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;

/** A picture in its 256 commonest colours, which takes a third of the space. */
final class IndexedPicture {
  private static final int COLOURS = 256;

  private final BufferedImage image;

  IndexedPicture(byte[] png) throws IOException {
    image = ImageIO.read(new ByteArrayInputStream(png));
  }

  byte[] png() throws IOException {
    int width = image.getWidth();
    int height = image.getHeight();
    int[] pixels = image.getRGB(0, 0, width, height, null, 0, width);
    Map<Integer, Integer> counts = new HashMap<>();
    for (int pixel : pixels) {
      counts.merge(pixel, 1, Integer::sum);
    }
    List<Integer> common =
        counts.entrySet().stream()
            .sorted(Map.Entry.<Integer, Integer>comparingByValue(Comparator.reverseOrder()))
            .limit(COLOURS)
            .map(Map.Entry::getKey)
            .toList();
    int[] palette = common.stream().mapToInt(colour -> colour).toArray();
    Map<Integer, Integer> places = new HashMap<>();
    BufferedImage indexed =
        new BufferedImage(
            width,
            height,
            BufferedImage.TYPE_BYTE_INDEXED,
            new IndexColorModel(8, palette.length, palette, 0, false, -1, 0));
    for (int i = 0; i < pixels.length; i++) {
      int place = places.computeIfAbsent(pixels[i], pixel -> nearest(palette, pixel));
      indexed.getRaster().setSample(i % width, i / width, 0, place);
    }
    ByteArrayOutputStream png = new ByteArrayOutputStream();
    ImageIO.write(indexed, "png", png);
    return png.toByteArray();
  }

  private static int nearest(int[] palette, int pixel) {
    int best = 0;
    for (int i = 1; i < palette.length; i++) {
      best = distance(palette[i], pixel) < distance(palette[best], pixel) ? i : best;
    }
    return best;
  }

  private static int distance(int colour, int other) {
    int sum = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
      int apart = (colour >> shift & 255) - (other >> shift & 255);
      sum += apart * apart;
    }
    return sum;
  }
}
