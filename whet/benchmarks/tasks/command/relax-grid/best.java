import java.io.IOException;

/** Successive over-relaxation of a grid whose rim is held: stdin gives its side, the sweeps and the values. */
public class RelaxGrid {
    static final double OMEGA = 1.25;

    public static void main(String[] args) throws IOException {
        Numbers numbers = new Numbers();
        int side = numbers.next();
        int sweeps = numbers.next();
        double[][] grid = new double[side][side];
        for (double[] row : grid) {
            for (int column = 0; column < side; column++) {
                row[column] = numbers.next();
            }
        }
        for (int n = 0; n < sweeps; n++) {
            for (int row = 1; row < side - 1; row++) {
                double[] above = grid[row - 1];
                double[] here = grid[row];
                double[] below = grid[row + 1];
                for (int column = 1; column < side - 1; column++) {
                    double around = above[column] + below[column] + here[column - 1] + here[column + 1];
                    here[column] = OMEGA * 0.25 * around + (1.0 - OMEGA) * here[column];
                }
            }
        }
        StringBuilder text = new StringBuilder();
        for (double[] row : grid) {
            double sum = 0.0;
            for (double value : row) {
                sum += value;
            }
            text.append(String.format("%.6f%n", sum));
        }
        System.out.print(text);
    }
}
