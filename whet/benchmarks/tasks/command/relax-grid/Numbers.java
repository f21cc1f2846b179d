import java.io.DataInputStream;
import java.io.IOException;

/** Reads whole numbers from stdin. */
final class Numbers {
    private final DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(System.in));

    int next() throws IOException {
        int read = in.read();
        while (read != '-' && (read < '0' || read > '9')) {
            read = in.read();
        }
        boolean negative = read == '-';
        int value = negative ? 0 : read - '0';
        for (read = in.read(); read >= '0' && read <= '9'; read = in.read()) {
            value = 10 * value + read - '0';
        }
        return negative ? -value : value;
    }
}
